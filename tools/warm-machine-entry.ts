/** The entry file of the machine-server, to be compiled without being run, like those in `warm-entries.ts`. */
import './run-nothing.ts';
import '../apps/machine-server/src/main.ts';
