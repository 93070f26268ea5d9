import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { CredentialsType, RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from './parse.ts';
import { durationNanos, formatDuration } from './robot/duration.ts';
import { orientationVectorOf } from './robot/orientation.ts';
import { fromRobotConfig, toRobotConfig } from './robot-config.ts';
import type { JsonObject, MachineConfig } from './schema.ts';

const text = fc.string({ minLength: 1, maxLength: 8 }).filter((each) => each !== '__proto__');
const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const duration = fc.bigInt({ min: 0n, max: 10n ** 16n }).map(formatDuration);
const sized = number.filter((each) => each !== 0);
const textMap = fc.dictionary(text, fc.string(), { minKeys: 1, maxKeys: 3 });
// As parsed from a file: no prototype keys.
const json = fc.json({ maxDepth: 3 }).filter((each) => !each.includes('__proto__'));
const attributes = fc.dictionary(
  text,
  json.map((each) => JSON.parse(each) as never),
  { maxKeys: 3 },
);
const record = (model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
  fc.record(model, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
const some = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(item, { minLength: 1, maxLength: 2 });
const point = fc.record({ x: number, y: number, z: number });
const yes = fc.constant(true);

const orientation = fc.oneof(
  fc.constant({ type: '' }),
  ...['ov_radians', 'ov_degrees', 'axis_angles'].map((type) =>
    fc.record({ type: fc.constant(type), value: fc.record({ x: number, y: number, z: number, th: number }) }),
  ),
  fc.record({ type: fc.constant('euler_angles'), value: fc.record({ roll: number, pitch: number, yaw: number }) }),
  fc.record({
    type: fc.constant('quaternion'),
    value: fc.record({ w: number, x: number, y: number, z: number }),
  }),
);
const centre = {
  translation: point.filter(({ x, y, z }) => x !== 0 || y !== 0 || z !== 0),
  orientation: fc.record({
    type: fc.constant('ov_degrees'),
    value: fc.record({ x: sized, y: number, z: number, th: number }),
  }),
  label: text,
};
const geometry = fc.oneof(
  fc.tuple(point, record(centre)).map(([sizes, rest]) => ({ type: 'box', ...sizes, ...rest })),
  fc.tuple(sized, record(centre)).map(([r, rest]) => ({ type: 'sphere', r, ...rest })),
  fc.tuple(number, number, record(centre)).map(([r, l, rest]) => ({ type: 'capsule', r, l, ...rest })),
  record(centre).map((rest) => ({ type: 'point', ...rest })),
  fc.uint8Array({ maxLength: 9 }).map((bytes) => ({ type: 'mesh', mesh_data: Buffer.from(bytes).toString('base64') })),
);
const frame = record({ parent: text, translation: point, orientation, geometry });
const level = fc.constantFrom('debug', 'info', 'warn', 'error');
const resource = (kind: string): fc.Arbitrary<object> =>
  fc
    .tuple(
      fc.record({
        name: word,
        api: word.map((type) => `core:${kind}:${type}`),
        model: word.map((name) => `core:builtin:${name}`),
        attributes,
        depends_on: fc.array(word, { maxLength: 2 }),
        service_configs: fc.array(fc.record({ type: word, attributes }), { maxLength: 2 }),
      }),
      record({ log_configuration: fc.record({ level }), ...(kind === 'component' ? { frame } : {}) }),
    )
    .map(([required, optional]) => ({ ...required, ...optional }));
const keys = fc.dictionary(word, text, { minKeys: 1, maxKeys: 3 });
const auth = record({
  handlers: keys.map((config) => [{ type: 'api-key', config: { ...config, keys: Object.keys(config) } }]),
  tls_auth_entities: some(text),
  external_auth_config: fc.record({ jwks: fc.record({ keys: some(attributes) }) }),
});
const status = fc.record({ error: text });
const credentials = fc.record({
  type: fc.constantFrom('internal', 'api-key', 'robot-secret', 'robot-location-secret'),
  payload: text,
});
const document = fc.tuple(
  fc.record({
    components: fc.array(resource('component'), { maxLength: 3 }),
    services: fc.array(resource('service'), { maxLength: 2 }),
    modules: fc.array(
      record({
        ...{ name: text, executable_path: text, log_level: text, type: text, module_id: text },
        ...{ env: textMap, status, first_run_timeout: duration, tcp_mode: yes, no_api_key: yes },
      }),
      { maxLength: 2 },
    ),
    remotes: fc.array(
      record({
        ...{ name: text, address: text, frame, auth: record({ credentials, entity: text }), managed_by: text },
        ...{ insecure: yes, connection_check_interval: duration, reconnect_interval: duration },
        ...{ service_configs: some(fc.record({ type: word, attributes })), secret: text, prefix: text },
      }),
      { maxLength: 2 },
    ),
    processes: fc.array(
      record({
        ...{ id: text, name: text, args: some(text), cwd: text, one_shot: yes, log: yes, env: textMap },
        ...{ stop_signal: fc.constantFrom('SIGTERM', 'SIGKILL', '20'), stop_timeout: duration, username: text },
      }),
      { maxLength: 2 },
    ),
    packages: fc.array(record({ name: text, package: text, version: text, type: text, status }), { maxLength: 2 }),
    jobs: fc.array(
      record({
        ...{ name: text, schedule: text, resource: text, method: text, command: attributes },
        log_configuration: fc.record({ level }),
      }),
      { maxLength: 2 },
    ),
    fragments: fc.constant([]),
    triggers: fc.constant([]),
    log: fc.array(fc.record({ pattern: text, level }), { maxLength: 2 }),
    debug: fc.boolean(),
    disable_log_deduplication: fc.boolean(),
  }),
  record({
    maintenance: fc.record({
      sensor_name: word.map((name) => `core:component:sensor/${name}`),
      maintenance_allowed_key: text,
    }),
    network: record({
      ...{ fqdn: text, bind_address: text, tls_cert_file: text, tls_key_file: text, no_tls: yes },
      sessions: record({ heartbeat_window: duration }),
      traffic_tunnel_endpoints: some(
        record({ port: fc.integer({ min: 1, max: 65_535 }), connection_timeout: duration }),
      ),
    }),
    auth,
    tracing: record({ enabled: yes, disk: yes, console: yes, otlpendpoint: text }),
    enable_web_profile: yes,
    disable_partial_start: fc.boolean(),
  }),
);

test('every document survives the conversion to the message and back, through the wire', () => {
  fc.assert(
    fc.property(document, ([required, optional]) => {
      const config = { ...required, ...optional } as unknown as MachineConfig;
      const bytes = toBinary(RobotConfigSchema, toRobotConfig(config, { id: 'part' }));
      expect(fromRobotConfig(fromBinary(RobotConfigSchema, bytes))).toEqual(config);
    }),
    { numRuns: 200 },
  );
});

test('durations have the usual forms, to the nanosecond', () => {
  const millis = (wanted: string): number => Number(durationNanos(wanted) ?? -1n) / 1e6;
  expect(['30s', '1m30s', '1.5h', '250ms', '0', '5us'].map(millis)).toEqual([30_000, 90_000, 5_400_000, 250, 0, 0.005]);
  for (const wrong of ['', '5', '-1s', 's', '1 s', '1d']) expect(durationNanos(wrong)).toBeUndefined();
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), (nanos) => {
      expect(durationNanos(formatDuration(nanos))).toBe(nanos);
    }),
  );
});

test('public machine-servers get one API key handler with its list, and nothing that they refuse', () => {
  const { config, problems } = parse({
    auth: {
      handlers: [
        { type: 'api-key', config: { a: '1' } },
        { type: 'robot-location-secret', config: { secret: 's' } },
        { type: 'api-key', config: { b: '2', keys: [] } },
      ],
    },
  });
  expect(problems.map(({ level, path }) => `${level} ${path}`)).toEqual(['warning auth.handlers[1].type']);
  expect(toRobotConfig(config, {}).auth?.handlers).toMatchObject([
    { type: CredentialsType.API_KEY, config: { a: '1', b: '2', keys: ['a', 'b'] } },
  ]);
});

test('a value that does not fit its field is reported with its path and omitted', () => {
  const { config, problems } = parse({
    modules: [{ name: 'm', first_run_timeout: 5, color: 'red' }],
    remotes: [
      { name: 'r', address: 'r:1', reconnect_interval: 'soon', frame: { orientation: { type: 'upside_down' } } },
    ],
    network: {
      ...{ bind_address: 'everywhere', tls_cert_file: 'c', sessions: { heartbeat_window: '1h' } },
      traffic_tunnel_endpoints: [
        { port: 22, connection_timeout: '5s' },
        { port: 70_000 },
        { port: 22 },
        { connection_timeout: '0s' },
      ],
    },
    components: [{ name: 'c', api: 'core:component:arm', frame: { translation: { x: 'far' } } }],
  });
  expect(problems.map(({ level, path }) => `${level} ${path}`).toSorted()).toEqual([
    'error components[0].frame.translation',
    'error modules[0].first_run_timeout',
    'error network.bind_address',
    'error network.sessions.heartbeat_window',
    'error network.tls_cert_file',
    'error network.traffic_tunnel_endpoints[1].port',
    'error network.traffic_tunnel_endpoints[2].port',
    'error network.traffic_tunnel_endpoints[3]',
    'error network.traffic_tunnel_endpoints[3].connection_timeout',
    'error remotes[0].frame.orientation',
    'error remotes[0].reconnect_interval',
    'warning modules[0].color',
  ]);
  expect(problems.find(({ path }) => path === 'network.traffic_tunnel_endpoints[2].port')?.message).toBe(
    'expected each port once, found 22 again; remove one',
  );
  expect(toRobotConfig(config, {}).modules).toMatchObject([{ name: 'm' }]);
});

test('the orientation of a geometry becomes a vector: the direction of z, and the rotation about it', () => {
  const half = Math.SQRT1_2;
  const cases: [Parameters<typeof orientationVectorOf>[0], [number, number, number, number]][] = [
    [undefined, [0, 0, 1, 0]],
    [{ case: 'vectorRadians', value: { x: 1, y: 0, z: 0, theta: Math.PI } }, [1, 0, 0, 180]],
    // A quarter turn about y moves z onto x.
    [{ case: 'quaternion', value: { w: half, x: 0, y: half, z: 0 } }, [1, 0, 0, 0]],
    [{ case: 'eulerAngles', value: { roll: 0, pitch: Math.PI / 2, yaw: 0 } }, [1, 0, 0, 0]],
    // About x: z ends along −y; the first turn (−90°) leads there, and the last (90°) undoes its side effect.
    [{ case: 'axisAngles', value: { x: 2, y: 0, z: 0, theta: Math.PI / 2 } }, [0, -1, 0, 90]],
    [{ case: 'axisAngles', value: { x: 0, y: 0, z: 1, theta: Math.PI / 3 } }, [0, 0, 1, 60]],
    [{ case: 'axisAngles', value: { x: 0, y: 1, z: 0, theta: Math.PI } }, [0, 0, -1, 0]],
  ];
  for (const [orientation, [oX, oY, oZ, theta]] of cases) {
    const vector = orientationVectorOf(orientation);
    const found = [vector.oX, vector.oY, vector.oZ, vector.theta];
    for (const [index, wanted] of [oX, oY, oZ, theta].entries()) expect(found[index]).toBeCloseTo(wanted, 9);
  }
});

test('the version of a module stays in the parsed configuration, for the choice of its package; its log_level reaches the machine', () => {
  const module = { name: 'm', type: 'registry', module_id: 'acme:m', version: '1.2.3', log_level: 'debug' };
  const { config, problems } = parse({ modules: [module] });
  expect(problems).toEqual([]);
  expect(config.modules).toEqual([module]);
  const { version: _version, ...served } = module;
  expect(fromRobotConfig(toRobotConfig(config, {})).modules).toEqual([served]);
});
