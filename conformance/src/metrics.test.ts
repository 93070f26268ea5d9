/** GET /metrics of a running cloud, read as Prometheus reads it. */
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkTo, query, uploadUntil } from './crash/cloud-under-load.ts';

type Samples = ReadonlyMap<string, number>;

/** By name with labels. @throws Error at a line that is not in the text format of Prometheus */
function parse(text: string): Samples {
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    const [, typed, type] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (typed !== undefined && type !== undefined) {
      expect(types.has(typed), typed).toBe(false);
      types.set(typed, type);
      continue;
    }
    const [, sample = '', name = '', value = ''] =
      /^(([a-z_]+)(?:\{[a-z_]+="[^"\n]*"(?:,[a-z_]+="[^"\n]*")*\})?) (\S+)$/.exec(line) ?? [];
    expect(Number(value), line).not.toBeNaN();
    expect(
      [...types.keys()].some((known) => name.replace(/_(bucket|sum|count)$/, '') === known || name === known),
      line,
    ).toBe(true);
    samples.set(sample, Number(value));
  }
  return samples;
}

async function metricsOf(url: string): Promise<Samples> {
  const answer = await fetch(`${url}/metrics`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parse(await answer.text());
}

const upload = '/platform.app.datasync.v1.DataSyncService/DataCaptureUpload';
const asked = '/platform.app.data.v1.DataService/TabularDataByMQL';

test('metrics count uploads, readings, acknowledgements, queries and refusals, and show lags, disk and parts', async () => {
  await using cloud = await CloudUnderFire.start();
  const before = await metricsOf(cloud.url);
  expect(before.get('platform_ingest_uploads_total')).toBe(0);
  let uploads = 0;
  const { acknowledged } = await uploadUntil(cloud, 'press', () => uploads++ > 3);
  await using link = linkTo(cloud);
  await query(link, cloud.demo.organizationId, [{ $limit: 1 }]);
  const refused = link.client(DataService).tabularDataByMQL({ organizationId: 'none', mqlBinary: [] });
  await expect(refused).rejects.toMatchObject({ code: 'not_found' });

  const after = await metricsOf(cloud.url);
  const of = (sample: string): number | undefined => after.get(`platform_${sample}`);
  expect(of('ingest_uploads_total')).toBe(uploads - 1);
  expect(of('ingest_readings_total')).toBe(acknowledged);
  expect(of('ingest_bytes_total')).toBeGreaterThan(acknowledged * 10);
  expect(of('ingest_log_position')).toBe(uploads - 1);
  expect(of(`call_seconds_count{method="${upload}",code="ok"}`)).toBe(uploads - 1);
  expect(of(`call_seconds_bucket{le="+Inf",method="${upload}",code="ok"}`)).toBe(uploads - 1);
  expect(of(`call_seconds_count{method="${asked}",code="ok"}`)).toBe(1);
  expect(of(`call_seconds_count{method="${asked}",code="not_found"}`)).toBe(1);
  // The query waited until everything was loaded.
  expect(of('follower_lag_uploads{follower="load"}')).toBe(0);
  expect(of('follower_lag_uploads{follower="seal"}')).toBe(uploads - 1);
  expect(of('store_rows{state="hot"}')).toBe(acknowledged);
  expect(of('store_up')).toBe(1);
  expect(of('messages{channel="webhook",state="failed"}')).toBe(0);
  expect(of('disk_free_bytes')).toBeGreaterThan(of('disk_needed_bytes') ?? Number.POSITIVE_INFINITY);
  expect(of('parts{state="online"}')).toBe(1);
});

test('with a token, metrics are only for callers that send it; a short token is refused at the start', async () => {
  const token = 'a-token-of-enough-characters';
  await using cloud = await CloudUnderFire.start({ PLATFORM_METRICS_TOKEN: token });
  const ask = async (authorization: string): Promise<number> =>
    (await fetch(`${cloud.url}/metrics`, { headers: { authorization } })).status;
  expect((await fetch(`${cloud.url}/metrics`)).status).toBe(401);
  expect(await ask(`Bearer ${token}x`)).toBe(401);
  expect(await ask(token)).toBe(401);
  expect(await ask(`Bearer ${token}`)).toBe(200);
  await expect(CloudUnderFire.start({ PLATFORM_METRICS_TOKEN: 'short' })).rejects.toThrow('PLATFORM_METRICS_TOKEN');
});
