/** A thread that only watches the main thread, for a cloud in Postgres; with SQLite, the thread of the ingest log does it. */
import { workerData } from 'node:worker_threads';
import { type WatchSetup, watchMainThread } from '@platform/base/watchdog';

watchMainThread(workerData as WatchSetup);
