"""How Java runs in the tests: each lives for a minute or so, too short to earn back its second compiler (a
third of the CPU time)."""

QUICK_JAVA = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
