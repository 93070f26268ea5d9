import { type Gap, GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { expect, test } from 'vitest';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { createTestHome, startTestServer, until } from '../testing/start-test-server.ts';

const capturedAs = (method: string): object => ({
  service_configs: [{ type: 'data_manager', attributes: { capture_methods: [{ method, capture_frequency_hz: 20 }] } }],
});
const model = 'core:builtin:fake';

test('missed readings of a slow or failing resource reach the cloud as gaps, with their series, reason and times', async () => {
  const startedMs = Date.now();
  const slow = { name: 'slow', api: 'core:component:motor', model, attributes: { delays_ms: { GetPosition: 120 } } };
  const broken = {
    name: 'broken',
    api: 'core:component:servo',
    model,
    attributes: { errors: { GetPosition: 'stuck' } },
  };
  const attributes = { sync_interval_mins: 0.002 };
  await using cloud = await startFakeCloud({
    components: [slow, broken].map((resource) => ({ ...resource, ...capturedAs('Position') })),
    services: [{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin', attributes }],
  });
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home);
  // On a busy computer, ticks of the failing one may also be missed.
  const expected = (): Gap[] =>
    [...cloud.gaps.values()].filter(
      ({ componentName, reason }) => reason === (componentName === 'slow' ? GapReason.MISSED : GapReason.FAILED),
    );
  await until('both in the cloud', () => new Set(expected().map(({ componentName }) => componentName)).size === 2);
  const counts = new Map(server.capture.status().map(({ key, late, failed }) => [key, late + failed]));
  for (const { componentType, componentName, methodName, readings, start, end } of expected()) {
    expect(Number(readings)).toBeGreaterThan(0);
    const key = `${componentType}/${componentName} ${methodName} {}`;
    expect(Number(readings)).toBeLessThanOrEqual(counts.get(key) ?? 0);
    const [startMs, endMs] = [start, end].map((time) => Number(time?.seconds ?? 0n) * 1_000 + 999);
    expect(startMs).toBeGreaterThanOrEqual(startedMs);
    expect(endMs).toBeGreaterThanOrEqual(startMs ?? 0);
  }
  expect(server.capture.errors()).toBe('core:component:servo/broken: Position is not captured: stuck');
});
