/**
 * The process of a canary. A call starts when it is due, whether or not earlier ones are answered, and its wait counts from that time, less
 * what this process itself was late. Each line on standard input is answered with the report since the last one.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { createInterface } from 'node:readline';
import type { CanaryOptions, CanaryReport } from './canary.ts';

const { url, calls, everyMs = 100, pid } = JSON.parse(process.argv[2] ?? '{}') as CanaryOptions;
const session = connect(url);
// Its calls fail, and are counted.
session.on('error', () => {});
let report = newReport();
/** When each open call started, and the processor time of the asked thread until then. */
const open = new Map<number, number>();

function newReport(): { -readonly [Name in keyof CanaryReport]: CanaryReport[Name] } & {
  failures: Record<string, number>;
} {
  return { asked: 0, answered: 0, longestMs: 0, busiestMs: 0, failures: {} };
}

/** Of the main thread of the process asked, ms. */
function processorMs(): number {
  if (pid === undefined) return 0;
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;
  } catch {
    // It has ended; its calls fail, and are counted.
    return 0;
  }
}

function noteWait(startedMs: number, startedProcessorMs: number): void {
  report.longestMs = Math.max(report.longestMs, performance.now() - startedMs);
  report.busiestMs = Math.max(report.busiestMs, processorMs() - startedProcessorMs);
}

function ask({ path, message, accessToken }: CanaryOptions['calls'][number]): void {
  const startedMs = performance.now();
  const startedProcessorMs = processorMs();
  open.set(startedMs, startedProcessorMs);
  report.asked++;
  let status: unknown;
  const note = (headers: Readonly<Record<string, unknown>>): void => {
    status = headers['grpc-status'] ?? status;
  };
  const done = (): void => {
    if (!open.delete(startedMs)) return;
    noteWait(startedMs, startedProcessorMs);
    if (status === '0') report.answered++;
    else report.failures[`${path}: ${String(status)}`] = (report.failures[`${path}: ${String(status)}`] ?? 0) + 1;
  };
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
  });
  stream.on('response', note).on('trailers', note).on('error', done).on('close', done).resume();
  const bytes = Buffer.from(message ?? '', 'base64');
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  stream.end(Buffer.concat([head, bytes]));
}

let next = 0;
setInterval(() => ask(calls[next++ % calls.length] as CanaryOptions['calls'][number]), everyMs);
createInterface({ input: process.stdin })
  .on('line', () => {
    // A call that still waits counts with its wait so far.
    for (const started of open) noteWait(...started);
    process.stdout.write(`${JSON.stringify(report)}\n`);
    report = newReport();
  })
  .on('close', () => process.exit());
