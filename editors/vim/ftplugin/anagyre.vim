setlocal commentstring=#\ %s comments=:# textwidth=120
