/** Entry files of processes and threads, to be compiled without being run: the first import throws, and the rest is never evaluated. */
import './run-nothing.ts';
import '../apps/cli/src/main.ts';
import '../apps/cli/src/run.ts';
import '../apps/cloud/src/ingest/log/log-thread.ts';
import '../apps/cloud/src/main.ts';
import '../apps/cloud/src/metadata/sqlite/writer-thread.ts';
import '../apps/cloud/src/run.ts';
import '../apps/cloud/src/tabular/process/main.ts';
import '../apps/cloud/src/tabular/process/query/worker-thread.ts';
import '../apps/cloud/src/tabular/process/run.ts';
import '../apps/machine-server/src/main.ts';
import '../packages/base/src/hashing/hash-thread.ts';
