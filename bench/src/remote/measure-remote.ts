/** Remote control, compared with its requirements. */
import { fileURLToPath } from 'node:url';
import { startProcess } from '../cloud/server-process.ts';
import { measureOthers } from '../figures/measure-others.ts';
import type { Figure } from '../store/figure.ts';
import { measureCalls, measureDials, measureMany, measureStream } from './connections.ts';
import { measureIdleMachine } from './idle-machine.ts';
import { startRawPair } from './raw-pair.ts';
import { startRemoteMachine } from './remote-machine.ts';
import type { remoteParts } from './remote-parts.ts';
import { measureWaiting } from './waiting.ts';

export interface RemoteLoad {
  /** Some of `remoteParts`, separated by commas; empty: all. */
  readonly only: string;
  /** Machines that wait for calls. */
  readonly machines: number;
  /** How long their processor time is measured. */
  readonly seconds: number;
  /** Folder of another checkout, whose idle machine-server is the comparison. */
  readonly before: string | undefined;
}

/** Others should use less than this during a figure. */
const quietCores = 0.2;

export async function measureRemote({ only, machines, seconds, before }: RemoteLoad): Promise<Figure[]> {
  const figures: Figure[] = [];
  const measure = async (part: (typeof remoteParts)[number], run: () => Promise<Figure[]>): Promise<void> => {
    if (only !== '' && !only.split(',').includes(part)) return;
    const others = measureOthers();
    const found = await run();
    const cores = others();
    const loud = cores > quietCores ? `not quiet: others used ${cores.toFixed(1)} cores` : '';
    figures.push(...found.map((figure) => ({ ...figure, note: [figure.note, loud].filter(Boolean).join('; ') })));
  };
  await measure('connections', measureConnections);
  await measure('waiting', () => measureWaiting(machines, seconds));
  await measure('idle', () => measureIdleMachine(before));
  return figures;
}

async function measureConnections(): Promise<Figure[]> {
  const entry = fileURLToPath(new URL('../processes/tcp-flood.ts', import.meta.url));
  await using source = startProcess(process.execPath, [...process.execArgv, entry]);
  const port = Number((await source.event('listening'))['port']);
  await using machine = await startRemoteMachine(port);
  await using raw = await startRawPair();
  const figures = await measureDials(machine, raw);
  figures.push(...(await measureCalls(machine, raw)));
  figures.push(...(await measureStream(machine, raw, port)));
  figures.push(...(await measureMany(machine)));
  return figures;
}
