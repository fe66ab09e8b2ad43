"""Does simulated bandwidth grow with the threads that stream as it does on hardware?"""
