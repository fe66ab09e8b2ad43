"""Every study against its paper, on one scoreboard."""
