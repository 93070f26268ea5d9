/** A module as an author writes it: a counting sensor, one that adds to another sensor of the machine, a custom type, a motor. */
import { setTimeout as after } from 'node:timers/promises';
import {
  commandType,
  defineModel,
  invalidAttribute,
  type Motor,
  motor,
  PlatformError,
  sensor,
  serveModule,
} from '../../module.ts';

const counter = defineModel(sensor, {
  model: 'acme:examples:counter',
  validate({ attributes: { step } }) {
    if (typeof step !== 'number') throw invalidAttribute('step', 'a number', step);
    return undefined;
  },
  build({ attributes: { step }, log, module }) {
    let count = 0;
    let each = Number(step);
    if (each === 13) throw new Error('13 brings bad luck');
    log.info('built', { step: each });
    log.debug('details');
    return {
      readings: () => {
        count += each;
        if (each < 0) throw new Error('it counts backwards');
        return { count, module: module.name, directory: module.dataDirectory };
      },
      reconfigure: ({ attributes }) => {
        each = Number(attributes['step']);
      },
      doCommand: async (command) => {
        if (command['crash'] === true) process.exit(7);
        return { echo: command };
      },
      close: () => log.warn('closed'),
    };
  },
});

const doubled = defineModel(sensor, {
  model: 'acme:examples:doubled',
  validate: ({ attributes: { of } }) => ({ required: [String(of)], optional: ['fan'] }),
  build({ attributes: { of }, dependencies }) {
    const source = dependencies.get(sensor, String(of));
    return {
      readings: async (extra) => ({
        value: Number((await source.readings(extra))['value']) * 2,
        fan: dependencies.find(motor, 'fan') !== undefined,
      }),
    };
  },
});

class Greenhouse {
  #open = false;

  async doCommand({ open }: Readonly<Record<string, unknown>>) {
    if (typeof open !== 'boolean') throw new PlatformError('invalid_argument', 'open: expected true or false');
    this.#open = open;
    return { open };
  }

  async getStatus() {
    return { result: { open: this.#open } };
  }
}

const greenhouse = defineModel(commandType('acme:component:greenhouse'), {
  model: 'acme:examples:glass',
  build: () => new Greenhouse(),
});

const fan = defineModel(motor, {
  model: 'acme:examples:fan',
  build: () => {
    let powerPct = 0;
    const refuse = async (): Promise<never> => {
      throw new PlatformError('unimplemented', 'a fan has no position');
    };
    const made: Omit<Motor, 'close' | 'doCommand'> = {
      async setPower(request) {
        powerPct = request.powerPct;
        return {};
      },
      async stop() {
        powerPct = 0;
        return {};
      },
      async goFor(_request, { signal }) {
        await after(600_000, undefined, { signal });
        return {};
      },
      isPowered: async () => ({ isOn: powerPct !== 0, powerPct }),
      isMoving: async () => ({ isMoving: powerPct !== 0 }),
      getProperties: async () => ({ positionReporting: false }),
      goTo: refuse,
      setRPM: refuse,
      getPosition: refuse,
      resetZeroPosition: refuse,
    };
    return made;
  },
});

/** Lacks required methods of a motor. */
const broken = defineModel(motor, { model: 'acme:examples:broken', build: () => ({}) as Motor });

await serveModule({ models: [counter, doubled, greenhouse, fan, broken] });
