/**
 * Captures and syncs for some seconds, and immediately writes to standard output what was made, acknowledged and reported. Its system calls
 * are recorded.
 *
 *     node child.ts HOME SECONDS
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog, systemClock } from '@platform/base';
import { ledgerPlan, startCapturing } from './capturing.ts';

const [home = '', seconds = ''] = process.argv.slice(2);
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const data = await startCapturing({
  ...{ home, bootId: 'before' },
  made: (reading, atUs) => say({ made: { ...reading, atMs: atUs / 1_000 } }),
  accept: (upload) => say({ accepted: upload }),
  tell: (gap) => say({ told: gap }),
  log: silentLog,
});
data.capture.start();
const directory = join(home, 'capture');
await data.capture.configure([
  ledgerPlan(directory, 'fast', 100, 4_096),
  ledgerPlan(directory, 'direct', 20, 0),
  ledgerPlan(directory, 'slow', 2, 4_096),
]);
await systemClock.sleep(Number(seconds) * 1_000);
await data[Symbol.asyncDispose]();
