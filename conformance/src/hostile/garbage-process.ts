/** The process of an attacker that sends garbage: each line of standard input is a task. */
import { createInterface } from 'node:readline';
import { type Door, openDoor } from './garbage-doors.ts';

export interface GarbageTask {
  readonly door: Door;
  readonly from: number;
  readonly to: number;
  /** How many kinds at the same time. */
  readonly atOnce: number;
}

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const { door, from, to, atOnce } = JSON.parse(line) as GarbageTask;
    const outcomes: Record<string, number> = {};
    let next = from;
    await using opened = openDoor(door);
    const work = async (): Promise<void> => {
      for (let kind = next++; kind < to; kind = next++) {
        const how = await opened.send(kind);
        outcomes[how] = (outcomes[how] ?? 0) + 1;
      }
    };
    // A link is one for each part.
    await Promise.all(Array.from({ length: atOnce }, work));
    process.stdout.write(`${JSON.stringify({ outcomes })}\n`);
  })
  .on('close', () => process.exit());
