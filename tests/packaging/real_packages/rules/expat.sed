# Debian runs no tests of it. Their programs are built before the conversion.
s/^\t\$\(MAKE\) \$\(NJOBS\) -C buildw\/lib all$/&\nifeq (,$(filter nocheck,$(DEB_BUILD_OPTIONS)))\n\t$(MAKE) $(NJOBS) -C build check TESTS=\n\tdh_eh2sframe_tree_convert\n\t$(MAKE) -C build check\n\tdh_eh2sframe_tree_restore\nendif/
