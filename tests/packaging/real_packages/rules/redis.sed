# The whole suite takes most of an hour, and Debian ignores what it says. This is a part without TLS that may not fail.
s/^\t\.\/runtest --clients 1 --verbose --dump-logs --tls \|\| true$/\t.\/runtest --clients 2 --single unit\/type\/string --single unit\/type\/hash --single unit\/type\/zset --single unit\/expire --single unit\/scripting --single unit\/multi --single unit\/protocol --single unit\/sort --single unit\/pubsub --single integration\/rdb --single integration\/redis-cli/
/^\ttimeout 30m .\/runtest-cluster/d
/^\t.\/runtest-sentinel/d
