import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('the flag is set once the start is over: until then, compiled code is accepted', () => {
  const own = JSON.stringify(new URL('./heap-growth.ts', import.meta.url).href);
  const code = `
    import { cachedDataVersionTag } from 'node:v8';
    import { letHeapGrow } from ${own};
    const start = cachedDataVersionTag();
    const timer = {};
    const waiting = letHeapGrow({ every: (ms, run) => ({ ...Object.assign(timer, { ms, run }), [Symbol.dispose]: () => (timer.isOver = true) }) });
    const waited = cachedDataVersionTag();
    timer.run();
    console.log(JSON.stringify([waited === start, cachedDataVersionTag() === start, timer.ms, timer.isOver]));`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(JSON.parse(stdout || `"${stderr}"`)).toEqual([true, false, 5_000, true]);
});
