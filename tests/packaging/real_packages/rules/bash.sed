# The own tests, in the rule that builds. Without -o, `make test` would build bash again.
s/^\t-sh debian\/locale-gen$/\tdh_eh2sframe_tree_convert\n&/
s/^(\t\ttime \$\(MAKE\)) -C build-bash test /\1 -o bash -C build-bash test /
s/^\ttouch stamps\/stamp-check$/\tdh_eh2sframe_tree_restore\n&/
