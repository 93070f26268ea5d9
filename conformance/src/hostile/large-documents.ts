/** Configurations of a machine that are as large as they may be, each in many versions. Every one keeps a captured sensor, `ticker`. */

type Json = Readonly<Record<string, unknown>>;

export interface LargeDocument {
  readonly name: string;
  /** @param version a number that all resources contain, so that an edit changes each of them */
  document(version: number): Json;
}

/** Of the captured sensor whose readings take no time. */
export const ticksHz = 20;

const range = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const attributes = (count: number, value: (at: number) => unknown): Json =>
  Object.fromEntries(range(count, (at) => [`attribute_${at}`, value(at)]));
const sensor = (name: string, more: Json = {}): Json => ({
  ...{ name, api: 'core:component:sensor', model: 'core:builtin:fake' },
  ...more,
});
const holding = (components: readonly Json[], more: Json = {}): Json => ({
  ...more,
  components: [
    { name: 'motor', api: 'core:component:motor', model: 'core:builtin:fake' },
    { name: 'generic', api: 'core:component:generic', model: 'core:builtin:fake' },
    sensor('ticker', {
      service_configs: [
        {
          type: 'data_manager',
          attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: ticksHz }] },
        },
      ],
    }),
    ...components,
  ],
  services: [
    {
      ...{ name: 'data', api: 'core:service:data_manager', model: 'core:builtin:builtin' },
      attributes: { sync_interval_mins: 0.01 },
    },
    ...((more['services'] as readonly Json[] | undefined) ?? []),
  ],
});

/** Just below the 200,000 fields and elements that a machine-server decodes of one answer, or the 32 MiB of a message. */
export const largeDocuments: readonly LargeDocument[] = [
  {
    name: 'components with a few readings',
    document: (version) =>
      holding(
        range(3_000, (at) => sensor(`s${at}`, { attributes: { readings: attributes(8, (each) => each + version) } })),
      ),
  },
  {
    name: 'services',
    document: (version) =>
      holding([], {
        services: range(3_000, (at) => ({
          ...{ name: `s${at}`, api: 'core:service:generic', model: 'core:builtin:fake' },
          attributes: attributes(8, (each) => each + version),
        })),
      }),
  },
  {
    name: 'one component with many attributes',
    document: (version) =>
      holding([sensor('big', { attributes: { readings: attributes(39_000, (each) => each + version) } })]),
  },
  {
    name: 'long texts',
    document: (version) =>
      holding(
        range(30, (at) =>
          sensor(`s${at}`, { attributes: { readings: { text: `${version} `.padEnd(1024 * 1024, 'text ') } } }),
        ),
      ),
  },
  {
    name: 'one long text',
    document: (version) =>
      holding([sensor('big', { attributes: { readings: { text: `${version} `.padEnd(30 * 1024 * 1024, 'text ') } } })]),
  },
  {
    name: 'a chain of dependencies',
    document: (version) =>
      holding(
        range(3_000, (at) =>
          sensor(`s${at}`, {
            attributes: { readings: attributes(4, (each) => each + version) },
            depends_on: at === 0 ? [] : [`s${at - 1}`],
          }),
        ),
      ),
  },
  {
    name: 'attributes that no model knows',
    document: (version) =>
      holding(range(1_000, (at) => sensor(`s${at}`, { attributes: attributes(30, () => version) }))),
  },
  {
    name: 'models that do not exist',
    document: (version) =>
      holding(range(3_000, (at) => sensor(`s${at}`, { model: `acme:demo:none${version}`, attributes: { at } }))),
  },
  {
    name: 'variables that are not set',
    document: (version) =>
      holding(
        range(1_000, (at) =>
          sensor(`s${at}`, { attributes: { readings: attributes(20, () => `\${environment.NONE_${version}}`) } }),
        ),
      ),
  },
  {
    name: 'secrets',
    document: (version) =>
      holding(
        range(1_000, (at) =>
          sensor(`s${at}`, {
            attributes: { readings: { password: attributes(20, (each) => `secret ${version} ${at} ${each}`) } },
          }),
        ),
      ),
  },
  {
    name: 'frames',
    document: (version) =>
      holding(
        range(3_000, (at) =>
          sensor(`s${at}`, {
            frame: {
              parent: at === 0 ? 'world' : `s${at - 1}`,
              translation: { x: version, y: at, z: 0 },
            },
          }),
        ),
      ),
  },
  {
    name: 'jobs and log patterns',
    document: (version) =>
      holding([], {
        jobs: range(10_000, (at) => ({
          name: `job ${at}`,
          schedule: `${version}s`,
          resource: 'motor',
          method: 'Stop',
        })),
        log: range(20_000, (at) => ({ pattern: `logger${at}.v${version}`, level: 'info' })),
      }),
  },
];
