from experiments.python_programs.trying import main

main()
