# The own tests, in the rule that builds. `make test` builds bash again where `make` was not called twice.
s/^\t-sh debian\/locale-gen$/\t$(MAKE) -C build-bash\n\tdh_eh2sframe_tree_convert\n&/
s/^\ttouch stamps\/stamp-check$/\tdh_eh2sframe_tree_restore\n&/
