# Without valgrind, which the tests would run each program under.
s/^(\tdh_auto_configure --) --disable-static$/\1 --disable-static --disable-valgrind/
