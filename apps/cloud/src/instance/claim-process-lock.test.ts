import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';

const module = fileURLToPath(new URL('./claim-process-lock.ts', import.meta.url));

/** Prints won or lost, and holds a won lock until its input ends. */
const contender = `
  const { claimProcessLock } = await import(process.argv[1]);
  try {
    claimProcessLock(process.argv[2], 'the directory');
    console.log('won');
    process.stdin.resume();
  } catch (error) {
    console.log(/in use by process|being claimed/.test(error.message) ? 'lost' : error.message);
  }`;

test('when many processes find the same stale lock at once, exactly one wins', async () => {
  await using directory = await temporaryDirectory();
  for (let round = 0; round < 3; round++) {
    const lock = `${directory.path}/lock${round}`;
    writeFileSync(lock, `${2 ** 22 + 1} 1`);
    const all = Array.from({ length: 6 }, () => {
      const flags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning', '--input-type=module'];
      const child = spawn(process.execPath, [...flags, '-e', contender, module, lock], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      return { child, said: once(child.stdout, 'data').then(([text]) => String(text).trim()) };
    });
    const said = await Promise.all(all.map((one) => one.said));
    for (const { child } of all) child.stdin.end();
    expect(said.toSorted()).toEqual(['lost', 'lost', 'lost', 'lost', 'lost', 'won']);
  }
});
