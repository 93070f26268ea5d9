import { setTimeout as sleep } from 'node:timers/promises';
import { processTree, proportionalBytes, residentBytes } from '@platform/testkit';
import { scratch } from './cloud/scratch.ts';
import { startDemo } from './cloud/start-demo.ts';

const settleMs = 20_000;

/** Memory of all processes of `npm start` (cloud, tabular, machine-server, command line) while only the demo uploads. */
export async function measureIdle(): Promise<Readonly<Record<string, number>>> {
  using folder = scratch();
  await using demo = startDemo(folder.path);
  await demo.event('webhook');
  await sleep(settleMs);
  const tree = processTree(demo.pid);
  const sum = (bytesOf: (pid: number) => number): number => tree.reduce((total, pid) => total + bytesOf(pid), 0) / 1e6;
  return { rss_mb: sum(residentBytes), pss_mb: sum(proportionalBytes), processes: tree.length };
}
