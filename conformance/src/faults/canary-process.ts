/**
 * The process of a canary. A call starts when it is due, whether or not earlier ones are answered, and its wait counts from that time, less
 * what this process itself was late. Each line on standard input is answered with the report since the last one.
 */
import { connect } from 'node:http2';
import { createInterface } from 'node:readline';
import type { CanaryOptions, CanaryReport } from './canary.ts';

const { url, calls, everyMs = 100 } = JSON.parse(process.argv[2] ?? '{}') as CanaryOptions;
const session = connect(url);
// Its calls fail, and are counted.
session.on('error', () => {});
let report = newReport();
const open = new Set<number>();

function newReport(): { -readonly [Name in keyof CanaryReport]: CanaryReport[Name] } & {
  failures: Record<string, number>;
} {
  return { asked: 0, answered: 0, longestMs: 0, failures: {} };
}

function ask({ path, message, accessToken }: CanaryOptions['calls'][number]): void {
  const startedMs = performance.now();
  open.add(startedMs);
  report.asked++;
  let status: unknown;
  const note = (headers: Readonly<Record<string, unknown>>): void => {
    status = headers['grpc-status'] ?? status;
  };
  const done = (): void => {
    if (!open.delete(startedMs)) return;
    report.longestMs = Math.max(report.longestMs, performance.now() - startedMs);
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
    const nowMs = performance.now();
    // A call that still waits counts with its wait so far.
    for (const startedMs of open) report.longestMs = Math.max(report.longestMs, nowMs - startedMs);
    process.stdout.write(`${JSON.stringify(report)}\n`);
    report = newReport();
  })
  .on('close', () => process.exit());
