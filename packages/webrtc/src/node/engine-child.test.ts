import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { silentLog, systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { program } from '../../../../tools/bundles/program.ts';
import { createEngine } from './create-engine.ts';

test('a program of the command line (-e) starts the engine, not itself again', () => {
  const engineProgram = pathToFileURL(program('webrtc-engine')).href;
  const source = new URL('./create-engine.ts', import.meta.url).href;
  const script = `
    import { silentLog, systemClock } from '@platform/base';
    import { createEngine } from '${source}';
    const engine = createEngine({ clock: systemClock, log: silentLog, program: new URL('${engineProgram}') });
    const peer = await engine.createPeer({ iceServers: [] });
    console.log((await peer.offer()).startsWith('v=0'));
    await engine[Symbol.asyncDispose]();
  `;
  const args = [...process.execArgv, '--input-type=module', '-e', script];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('true\n');
});

test('without its program there is no engine, which says so', async () => {
  const missing = new URL('./no-such-program.js', import.meta.url);
  await using engine = createEngine({ clock: systemClock, log: silentLog, program: missing });
  await expect(engine.createPeer({ iceServers: [] })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('this computer has no WebRTC engine'),
  });
});
