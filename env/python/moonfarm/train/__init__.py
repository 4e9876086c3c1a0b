"""Programs that learn, with PyTorch: `python3 -m moonfarm train LOOP GAME …`.

    ppo      proximal policy optimisation against policies and past selves
    clone    learns the choices of datasets' players, or the results of their searches
    dagger   a network plays, a policy says what it would have chosen, and the network learns that
    iterate  expert iteration: a search teaches a network, which then guides the search

All have the same options for the same things, write the same files into the folder of --out, and continue the run that
is in it; see run.py. networks.py chooses a network for a game and form, learner.py has its losses and measurements.
"""
