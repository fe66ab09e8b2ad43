from experiments.whole_programs.trying import main

main()
