/**
 * The minimum time of an acknowledgement on this disk now: a process that overwrites and syncs a file, 128 KiB at a time, at a given rate,
 * until it reads a line; then it reports `synced`, as JSON. A time counts from when the write was due.
 */
import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runForAcknowledgements } from '../../../apps/cloud/src/instance/priority.ts';

runForAcknowledgements();
const [file = '', perSecond = '20'] = process.argv.slice(2);
const blockBytes = 128 * 1024;
const blocks = 32;
const block = Buffer.alloc(blockBytes, 1);
const opened = openSync(file, 'w');
for (let at = 0; at < blocks; at++) writeSync(opened, block);
fsyncSync(opened);

let isOver = false;
process.stdin.once('data', () => {
  isOver = true;
});
process.stdout.write(`${JSON.stringify({ event: 'ready' })}\n`);
const latenciesMs: number[] = [];
const startedAt = performance.now();
for (let count = 0; !isOver; count++) {
  const due = startedAt + (count * 1000) / Number(perSecond);
  const early = due - performance.now();
  if (early > 0) await sleep(early);
  block.fill(count);
  writeSync(opened, block, 0, blockBytes, (count % blocks) * blockBytes);
  fdatasyncSync(opened);
  latenciesMs.push(performance.now() - due);
}
closeSync(opened);
process.stdout.write(`${JSON.stringify({ event: 'synced', latenciesMs })}\n`);
process.exit(0);
