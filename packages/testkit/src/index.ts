export { browserProgram } from './browser-program.ts';
export { type CommandLine, type CommandRequest, commandLineOf, readCommandLine } from './command-line/command-line.ts';
export { type DiskFault, type DiskFaults, type FileCall, startDiskFaults } from './disk-faults/disk-faults.ts';
export { type DocumentServer, type InsertFault, startDocumentServer } from './document-server.ts';
export { type FailingCalls, failingCalls } from './failing-calls.ts';
export { FakeClock } from './fake-clock.ts';
export { type FakeStripe, startFakeStripe } from './fake-stripe/fake-stripe.ts';
export { createFaultProxy, type Fault, type FaultProxy } from './fault-proxy.ts';
export { freePort } from './free-port.ts';
export { type Garbage, type GarbageSource, hostileClients, hostileServers } from './garbage/garbage.ts';
export { sendAsClient, sendAsServer } from './garbage/send-garbage.ts';
export {
  type Account,
  type AccountOptions,
  accountFor,
  type Produced,
  type ReportedGap,
} from './ledger/account-for.ts';
export { Ledger, type LedgerReading, type LedgerReport, type LedgerRow } from './ledger/ledger.ts';
export { type LedgerSource, startLedgerSource } from './ledger/ledger-source.ts';
export { faultProgress, reportFault, tellFailure } from './ledger/report-fault.ts';
export { type Direction, type Lie, type LyingProxy, lies, startLyingProxy } from './lying-proxy.ts';
export { type Lag, measureLag } from './measure-lag.ts';
export { type OpenIdProvider, type ProvidedPerson, startOpenIdProvider } from './openid-provider.ts';
export { type MailContent, parseMail, type ReceivedMail } from './parse-mail.ts';
export { type PostgresOptions, type PostgresServer, startPostgres } from './postgres.ts';
export { type CutImage, type CutOptions, cutImages, restoreImage } from './power-cut.ts';
export { type ChildProcess, type ExitStatus, rssBytes, type SpawnOptions, spawnChild } from './process.ts';
export { cpuSeconds, processTree, proportionalBytes, residentBytes } from './process-usage.ts';
export { type PushAnswer, type PushSink, type ReceivedPush, startPushSink } from './push-sink.ts';
export { type RecordOptions, recordSyscalls, type Syscall } from './record-syscalls.ts';
export { type DiskStep, type RecordedOutput, RecordingDisk } from './recording-disk.ts';
export { rollingSeed } from './rolling-seed.ts';
export { seededRandom } from './seeded-random.ts';
export { selfSigned } from './self-signed.ts';
export { layeredDisk, mountedDisk, mountFault, type ProcessDisk, type SmallDisk } from './small-disk/small-disk.ts';
export { type SmtpSink, startSmtpSink } from './smtp-sink.ts';
export { standInResolver } from './stand-in-resolver.ts';
export { memoryDirectory, type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';
export { type ReceivedWebhook, startWebhookSink, type WebhookAnswer, type WebhookSink } from './webhook-sink.ts';
