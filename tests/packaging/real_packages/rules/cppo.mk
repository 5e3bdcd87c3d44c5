
# dune builds a program again that was converted. So this runs what its tests run, without dune.
override_dh_auto_test:
ifeq (,$(filter nocheck,$(DEB_BUILD_OPTIONS)))
	cd test; set -e; for name in capital comments cond loc paren_arg test tuple version ext; do \
		../_build/default/src/cppo_main.exe -V X:123.05.2-alpha.1+foo-2.1 -V COQ:8.13+beta1 \
			-x "rot13:tr '[a-z]' '[n-za-m]'" -x "source:sh source.sh '%F' %B %E" $$name.cppo >$$name.out; \
		diff $$name.ref $$name.out; echo "PASS: $$name"; done
endif
