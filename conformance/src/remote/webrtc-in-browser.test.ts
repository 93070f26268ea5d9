import { fileURLToPath, pathToFileURL } from 'node:url';
import { silentLog, systemClock } from '@platform/base';
import { createEngine, type Peer } from '@platform/webrtc';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { program } from '../../../tools/bundles/program.ts';
import { openBrowser } from '../open-browser.ts';

type InPage = typeof import('./testing/webrtc-in-page.ts');

/** Calls a function of the page's module. */
async function inPage<Name extends keyof InPage>(
  page: Page,
  name: Name,
  ...args: Parameters<InPage[Name]>
): Promise<Awaited<ReturnType<InPage[Name]>>> {
  const call = `webrtc.${name}(...${JSON.stringify(args)})`;
  return (await page.evaluate(call)) as Awaited<ReturnType<InPage[Name]>>;
}

async function pageModule(): Promise<string> {
  await using bundle = await rolldown({
    input: fileURLToPath(new URL('./testing/webrtc-in-page.ts', import.meta.url)),
    platform: 'browser',
    resolve: { conditionNames: ['@platform/source', 'default'] },
    onLog(_level, { message }) {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({ format: 'iife', name: 'webrtc' });
  return output[0].code;
}

/** Passes candidates on, as signaling does. */
async function passCandidates(page: Page, peer: Peer): Promise<void> {
  for await (const candidate of peer.candidates) await inPage(page, 'add', candidate);
}

test('a browser and the engine of Node connect, whoever calls: echo, a flood that waits, and the end', async () => {
  const engineProgram = pathToFileURL(program('webrtc-engine'));
  await using engine = createEngine({ clock: systemClock, log: silentLog, program: engineProgram });
  await using browser = await openBrowser();
  const { page } = browser;
  await page.addScriptTag({ content: await pageModule() });
  for (const caller of ['browser', 'node']) {
    await using peer = await engine.createPeer({ iceServers: [] });
    if (caller === 'browser') {
      const answer = await peer.answer(await inPage(page, 'offer'));
      await inPage(page, 'accept', answer);
    } else await peer.accept(await inPage(page, 'answer', await peer.offer()));
    void passCandidates(page, peer);
    for (const candidate of await inPage(page, 'known')) peer.addCandidate(candidate);
    const channel = await peer.opened;
    const pair = await inPage(page, 'echo');
    expect(pair, caller).toMatchObject({ local: 'host', remote: 'host' });
    expect(await peer.selectedPair(), caller).toMatchObject({ local: 'host', remote: 'host' });

    const echoed = new Promise<Uint8Array>((resolve) => {
      channel.onMessage = resolve;
    });
    const message = Buffer.alloc(65_536, 'abc');
    channel.send(message);
    expect(Buffer.from(await echoed).equals(message.toReversed()), caller).toBe(true);

    const total = 8 << 20;
    let arrived = 0;
    const all = new Promise<void>((resolve) => {
      channel.onMessage = ({ length }) => {
        arrived += length;
        if (arrived === total) resolve();
      };
    });
    expect(await inPage(page, 'flood', total), caller).toBeLessThanOrEqual((1 << 20) + 16_384);
    await all;

    await peer[Symbol.asyncDispose]();
    expect(await inPage(page, 'ended'), caller).toBe('unavailable');
  }
  expect(await inPage(page, 'refusal', 'garbage')).toBe('invalid_argument');
  expect(browser.faults).toEqual([]);
});
