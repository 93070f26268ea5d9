export { FakeClock } from './fake-clock.ts';
export { createFaultProxy, type Fault, type FaultProxy } from './fault-proxy.ts';
export { Ledger, type LedgerReading, type LedgerReport, type LedgerRow } from './ledger.ts';
export { type PostgresOptions, type PostgresServer, startPostgres } from './postgres.ts';
export { type CutImage, type CutOptions, cutImages, restoreImage } from './power-cut.ts';
export { type ChildProcess, type ExitStatus, rssBytes, type SpawnOptions, spawnChild } from './process.ts';
export { type RecordOptions, recordSyscalls, type Syscall } from './record-syscalls.ts';
export { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';
export { type CaughtWebhook, startWebhookSink, type WebhookAnswer, type WebhookSink } from './webhook-sink.ts';
