"""How often does the prediction interval hold the time that was measured?"""
