/** Queries that would take all time or all memory: each ends with a clear error and does not affect others. */
import { asPlatformError } from '@platform/base';
import { QueryError } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostileQueries } from '../testing/hostile-queries.ts';
import { type OpenTabular, openTabular, testPlace, wholeOrganization } from '../testing/open-tabular.ts';

/** Far above the five seconds needed on an idle computer; a query that ends only by this deadline lacks its own limit. */
const deadlineMs = 120_000;
/** Longer than a poll: a query that needs the child to be killed fails the test, but a slow computer does not. */
const killAfterMs = 90_000;
const stack = new AsyncDisposableStack();
let store: OpenTabular;

beforeAll(async () => {
  store = stack.use(await openTabular({ deadlineMs, killAfterMs }));
  const list = Array.from({ length: 100 }, (_, n) => n);
  for (let upload = 0; upload < 10; upload++) {
    const readings = Array.from({ length: 100 }, (_, n) => ({
      data: { i: upload * 100 + n, text: 'a'.repeat(200), list },
    }));
    store.append({ readings });
  }
  store.append({ place: { ...testPlace, organizationId: 'org-2' }, readings: [{ data: { i: 1 } }] });
  await store.tabular.seal();
});

afterAll(() => stack.disposeAsync());

test.each(Object.entries(hostileQueries))('%s', async (_, make) => {
  const { processId } = await store.tabular.status();
  const over = new AbortController();
  const others = askOthers(over.signal);
  const refusal = await refusalOf(make);
  over.abort();
  expect(await others).toBeGreaterThan(0);
  // Some of these queries are answered. A refusal contains the name of MongoDB's error code.
  if (refusal !== undefined) {
    expect(refusal.code).toMatch(/^(invalid_argument|resource_exhausted|deadline_exceeded)$/);
    expect(refusal.message).toMatch(/, code \d+\)|the answer is larger than/);
  }
  await expect.poll(async () => (await store.tabular.status()).runningQueries).toBe(0);
  expect(await store.tabular.status()).toMatchObject({ processId, restarts: 0 });
});

async function refusalOf(
  make: (typeof hostileQueries)[string],
): Promise<{ code: string; message: string } | undefined> {
  try {
    await store.tabular.query({ plan: make(), scope: wholeOrganization, vocabulary: 'core', deadlineMs });
    return undefined;
  } catch (caught) {
    return caught instanceof QueryError ? caught.toPlatformError() : asPlatformError(caught);
  }
}

/** Another organization queries continuously. @returns how often it was answered */
async function askOthers(over: AbortSignal): Promise<number> {
  const scope = { ...wholeOrganization, organizationId: 'org-2' };
  for (let answered = 0; ; ) {
    const { count } = await store.tabular.query({ plan: parseMql([]), scope, vocabulary: 'core' });
    expect(count).toBe(1);
    answered++;
    if (over.aborted) return answered;
  }
}
