def runs_on_host(function, owner, tree):
    return 'test' in tree.path
