/** The pages of `-webprofile`, below `/debug/`. */
import { errorText, PlatformError } from '@platform/base';
import type { Profiler } from '../../diagnostics/profiler.ts';
import type { Answer } from './answer.ts';

const [usualSeconds, mostSeconds] = [10, 300];

const index = `profiler of the machine-server

/debug/profile?seconds=10   CPU profile of the next seconds (.cpuprofile)
/debug/heap?seconds=10      what is allocated in the next seconds and stays, sampled (.heapprofile)
/debug/vars                 memory, time and system calls of the process

Profiles open in the developer tools of a browser and in VS Code. One is taken at a time, of ${mostSeconds} seconds at most.
`;

export async function profilerPage(profiler: Profiler, path: string, query: URLSearchParams): Promise<Answer> {
  switch (path) {
    case '/debug/':
      return { status: 200, body: index };
    case '/debug/vars':
      return { status: 200, type: 'json', body: `${profiler.variables()}\n` };
    case '/debug/profile':
      return profile(query, 'machine-server.cpuprofile', profiler.cpu);
    case '/debug/heap':
      return profile(query, 'machine-server.heapprofile', profiler.heap);
    default:
      return { status: 404, body: 'machine-server: no such page; /debug/ lists them\n' };
  }
}

async function profile(query: URLSearchParams, name: string, take: (ms: number) => Promise<string>): Promise<Answer> {
  const given = query.get('seconds') ?? String(usualSeconds);
  const seconds = Number(given);
  if (!(seconds > 0 && seconds <= mostSeconds))
    return {
      status: 400,
      body: `machine-server: seconds: expected a number above 0, at most ${mostSeconds}, found "${given}"\n`,
    };
  try {
    const headers = { 'content-disposition': `attachment; filename="${name}"` };
    return { status: 200, type: 'json', headers, body: await take(seconds * 1_000) };
  } catch (caught) {
    if (caught instanceof PlatformError) return { status: 409, body: `machine-server: ${errorText(caught)}\n` };
    throw caught;
  }
}
