/** A resource type unknown to the product: this file contains its service, interface, descriptor and models. */
import { createFileRegistry, fromJson, type JsonObject } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { createProxy, type Readable, type Resource, type ResourceDescriptor } from '@platform/resources';
import { connect } from '@platform/rpc/client';
import type { Model } from '../graph/model.ts';

const field = (name: string, number: number, type: string, more: JsonObject = {}): JsonObject => ({
  ...{ name, number, type: `TYPE_${type}`, label: 'LABEL_OPTIONAL', ...more },
});
const method = (name: string, input: string, output: string, more: JsonObject = {}): JsonObject => ({
  ...{ name, inputType: `.acme.gauge.v1.${input}`, outputType: `.acme.gauge.v1.${output}`, ...more },
});

/** One method of every kind; a request names the gauge in `name`, in `gauge_name`, or in the first message of its stream. */
const file = fromJson(FileDescriptorProtoSchema, {
  name: 'acme/gauge.proto',
  package: 'acme.gauge.v1',
  syntax: 'proto3',
  messageType: [
    { name: 'Level', field: [field('litres', 1, 'DOUBLE'), field('open', 2, 'BOOL')] },
    { name: 'LevelRequest', field: [field('gauge_name', 1, 'STRING'), field('times', 2, 'INT32')] },
    { name: 'PictureRequest', field: [field('name', 1, 'STRING')] },
    { name: 'Picture', field: [field('image', 1, 'BYTES')] },
    { name: 'FillStart', field: [field('gauge_name', 1, 'STRING')] },
    {
      name: 'FillRequest',
      oneofDecl: [{ name: 'step' }],
      field: [
        field('init', 1, 'MESSAGE', { typeName: '.acme.gauge.v1.FillStart', oneofIndex: 0 }),
        field('litres', 2, 'DOUBLE', { oneofIndex: 0 }),
      ],
    },
  ],
  service: [
    {
      name: 'GaugeService',
      method: [
        method('GetLevel', 'LevelRequest', 'Level'),
        method('GetPicture', 'PictureRequest', 'Picture'),
        method('WatchLevel', 'LevelRequest', 'Level', { serverStreaming: true }),
        method('Fill', 'FillRequest', 'Level', { clientStreaming: true }),
        method('FillAndWatch', 'FillRequest', 'Level', { clientStreaming: true, serverStreaming: true }),
        method('Calibrate', 'PictureRequest', 'Level'),
      ],
    },
  ],
});
const service = createFileRegistry(file, () => undefined).getService('acme.gauge.v1.GaugeService');
if (service === undefined) throw new Error('expected the service of the gauge');
export const gaugeService = service;

interface Gauge extends Readable {
  level(): Promise<number>;
  fill(litres: number): Promise<number>;
  picture(): Promise<Uint8Array>;
}

/** The type of the service, as in generated code. */
export interface GaugeClient {
  getLevel(request: { gaugeName?: string }): Promise<{ litres: number; open: boolean }>;
  getPicture(request: { name?: string }): Promise<{ image: Uint8Array }>;
  watchLevel(request: { gaugeName?: string; times: number }): AsyncIterable<{ litres: number }>;
  fill(requests: AsyncIterable<FillRequest>): Promise<{ litres: number }>;
  fillAndWatch(requests: AsyncIterable<FillRequest>): AsyncIterable<{ litres: number }>;
  calibrate(request: { name?: string }): Promise<object>;
}

export interface FillRequest {
  readonly step: { case: 'init'; value: { gaugeName?: string } } | { case: 'litres'; value: number };
}

async function* filling(gauge: Gauge, requests: AsyncIterable<unknown>): AsyncGenerator<{ litres: number }, void> {
  for await (const { step } of requests as AsyncIterable<FillRequest>)
    if (step.case === 'litres') yield { litres: await gauge.fill(step.value) };
}

export const gauge: ResourceDescriptor<Gauge> = {
  api: 'acme:component:gauge',
  service,
  nameFields: ['gauge_name', 'init.gauge_name'],
  implementedBy: (resource: Resource): resource is Gauge => 'level' in resource,
  methods: {
    getLevel: async (found: Gauge) => ({ litres: await found.level(), ...(await found.readings({})) }),
    getPicture: async (found: Gauge) => ({ image: await found.picture() }),
    async *watchLevel(found: Gauge, request: unknown) {
      for (let left = (request as { times: number }).times; left > 0; left--) yield { litres: await found.level() };
    },
    async fill(found: Gauge, requests: AsyncIterable<unknown>) {
      for await (const _ of filling(found, requests));
      return { litres: await found.level() };
    },
    fillAndWatch: (found: Gauge, requests: AsyncIterable<unknown>) => filling(found, requests),
  },
  captures: { Level: { kind: 'tabular', read: async (found, params) => ({ ...params, litres: await found.level() }) } },
  proxy(connection) {
    const client = connection.client(service) as unknown as GaugeClient;
    async function* steps(litres: number): AsyncGenerator<FillRequest, void> {
      yield { step: { case: 'init', value: {} } };
      yield { step: { case: 'litres', value: litres } };
    }
    return {
      level: async () => (await client.getLevel({})).litres,
      fill: async (litres) => (await client.fill(steps(litres))).litres,
      picture: async () => (await client.getPicture({})).image,
      readings: async () => ({ open: (await client.getLevel({})).open }),
    };
  },
};

/** A gauge that keeps the filled amount; its attributes `litres` and `open` are the initial values. */
export const tank: Model = {
  api: gauge.api,
  model: 'acme:gauges:tank',
  async build({ attributes: { litres = 0, open = false } }): Promise<Gauge> {
    let level = Number(litres);
    return {
      level: async () => level,
      async fill(more) {
        level += more;
        if (level > 100) throw new RangeError('it overflows');
        return level;
      },
      picture: async () => new Uint8Array([0, 255, level]),
      readings: () => ({ open }),
      close: async () => {},
    };
  },
};

/** The gauge `name` of the machine at `address`. */
export const remoteGauge: Model = {
  api: gauge.api,
  model: 'acme:gauges:remote',
  async build({ attributes: { address, name } }) {
    const link = connect({ baseUrl: String(address) });
    return { ...createProxy(gauge, link, String(name)), close: async () => link[Symbol.asyncDispose]() };
  },
};
