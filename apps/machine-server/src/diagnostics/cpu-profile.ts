/** `-cpuprofile`: a profile of the whole run, written when the server stops. */
import { Session } from 'node:inspector/promises';
import { writeDurably } from '../directories/write-durably.ts';
import { writeFileOf } from './write-file-of.ts';

/** Profiles until it is disposed, which writes the file. Creates the file at once, so that a wrong path is an error at the start. */
export async function startCpuProfile(path: string): Promise<AsyncDisposable> {
  await writeFileOf('-cpuprofile', path, '');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  return {
    async [Symbol.asyncDispose]() {
      const { profile } = await session.post('Profiler.stop');
      session.disconnect();
      await writeDurably(path, JSON.stringify(profile));
    },
  };
}
