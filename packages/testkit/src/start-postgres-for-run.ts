/**
 * One Postgres server for all tests of a vitest run, as its `globalSetup`; tests find it in PLATFORM_TEST_POSTGRES. It ends with the run.
 */
import { startPostgres } from './postgres.ts';

export async function setup(): Promise<() => Promise<void>> {
  const server = await startPostgres();
  // Inherited by every worker.
  process.env['PLATFORM_TEST_POSTGRES'] = server.url('postgres');
  return async () => {
    delete process.env['PLATFORM_TEST_POSTGRES'];
    await server[Symbol.asyncDispose]();
  };
}
