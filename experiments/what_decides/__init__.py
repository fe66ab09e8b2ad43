"""Which numbers of a preset decide how long a kernel takes, and are those the uncertain ones?"""
