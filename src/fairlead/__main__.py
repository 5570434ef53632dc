"""`python -m fairlead` is the same as `fairlead`."""

from fairlead.interfaces.cli.main import main

main()
