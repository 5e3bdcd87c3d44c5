# Debian runs no tests of it.
/^build-stamp: configure$/,/^\ttouch \$@$/s/^\ttouch \$@$/ifeq (,$(filter nocheck,$(DEB_BUILD_OPTIONS)))\n\t$(MAKE) testfixture USE_AMALGAMATION=1\n\tdh_eh2sframe_tree_convert\n\t-.\/testfixture test\/extraquick.test\n\tdh_eh2sframe_tree_restore\nendif\n&/
