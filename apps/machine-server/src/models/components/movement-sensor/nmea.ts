/**
 * `core:builtin:nmea`: a GPS receiver or compass that sends NMEA 0183 sentences (GGA, RMC, VTG, HDT) over a serial port or TCP.
 *
 * Attributes: `serial_path` (9,600 baud by default), or `address` (`host:port`, port 10110 by default), with the other attributes of a
 * serial port (models/line-attributes.ts); `max_age_ms` (default 5,000; 0: any age): an older value is an error; `timeout_ms` (default
 * 10,000): the longest wait for the connection, and for the first value.
 *
 * Position and altitude come from GGA (the position also from RMC), the velocity from RMC and VTG (m/s along `y`, the direction of travel),
 * the heading from HDT, or else the course over ground from RMC and VTG. Sentences with a wrong checksum are dropped.
 */
import { type Clock, errorText, type PlatformError, unavailable, unimplemented } from '@platform/base';
import type { Document, MovementSensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { keepOpen } from '../../../hardware/keep-open.ts';
import type { Kernel } from '../../../hardware/kernel.ts';
import { lineName, openLine } from '../../../hardware/line.ts';
import { createLines } from '../../../hardware/lines.ts';
import { type Position, parseSentence, type Sentence } from '../../../hardware/nmea/parse-sentence.ts';
import { readAttributes } from '../../attributes.ts';
import { lineFields, readLine } from '../../line-attributes.ts';
import { createNewest, type Newest } from '../../newest.ts';
import { noCommands } from '../../no-commands.ts';

const fields = {
  ...lineFields,
  max_age_ms: { kind: 'int', default: 5_000, min: 0 },
  timeout_ms: { kind: 'int', default: 10_000, min: 1, max: 600_000 },
} as const;

/** Sentences have at most 82 characters; some receivers send longer ones. */
const maxLineBytes = 1_024;

interface Fix extends Position {
  readonly altitudeM: number;
}

interface Values {
  readonly fix: Newest<Fix>;
  readonly speed: Newest<number>;
  readonly heading: Newest<number>;
  /** From the newest GGA. */
  quality: number;
  hdop: number | undefined;
  satellites: number;
  altitudeM: number;
  /** HDT is better than the course over ground. */
  hasHeading: boolean;
}

export const createNmea = (clock: Clock, kernel: () => Promise<Kernel>): Model => ({
  api: 'core:component:movement_sensor',
  model: 'core:builtin:nmea',
  fields,
  async build({ attributes }, { log }): Promise<MovementSensor> {
    const given = readAttributes(fields, attributes);
    const settings = readLine(given, { port: 10_110, baudRate: 9_600 });
    const name = lineName(settings);
    const limits = { source: name, waitMs: given.timeout_ms, maxAgeMs: given.max_age_ms, clock };
    const values: Values = {
      fix: createNewest({ ...limits, expected: 'a position (GGA or RMC)' }),
      speed: createNewest({ ...limits, expected: 'a velocity (RMC or VTG)' }),
      heading: createNewest({ ...limits, expected: 'a heading (HDT, RMC or VTG)' }),
      ...{ quality: 0, hdop: undefined, satellites: 0, altitudeM: 0, hasHeading: false },
    };
    const failAll = (text: string): void => {
      for (const each of [values.fix, values.speed, values.heading]) each.fail(unavailable(text));
    };
    const take = (line: string): void => {
      if (line.trim() === '') return;
      try {
        const sentence = parseSentence(line);
        if (sentence !== undefined) apply(sentence, values, name);
      } catch (caught) {
        log.debug(`${name}: ${errorText(caught)}`);
      }
    };
    const lines = createLines(maxLineBytes, take, () =>
      log.debug(`${name}: dropped a line of more than ${maxLineBytes} bytes; check the baud rate`),
    );
    const keeper = await keepOpen({
      ...{ name, clock, log },
      open: () => openLine(settings, given.timeout_ms, { kernel, clock }),
      onChunk: (chunk) => lines.push(chunk),
      onEnd: (text) => failAll(`${name}: ${text}; reopening it`),
    });
    return {
      ...methodsOf(values),
      async close() {
        failAll(`${name}: this sensor was closed`);
        await keeper[Symbol.asyncDispose]();
      },
    };
  },
});

function apply(sentence: Sentence, values: Values, name: string): void {
  switch (sentence.kind) {
    case 'fix': {
      const { quality, position, altitudeM, satellites, hdop } = sentence;
      Object.assign(values, { quality, satellites, altitudeM, hdop });
      if (quality > 0 && position !== undefined) values.fix.set({ ...position, altitudeM });
      else values.fix.fail(noFix(name, satellites));
      break;
    }
    case 'minimum': {
      const { isValid, position, speedMPerS, courseDeg } = sentence;
      if (!isValid) values.fix.fail(noFix(name, values.satellites));
      else if (position !== undefined) values.fix.set({ ...position, altitudeM: values.altitudeM });
      if (isValid) move(values, speedMPerS, courseDeg);
      break;
    }
    case 'velocity':
      move(values, sentence.speedMPerS, sentence.courseDeg);
      break;
    case 'heading':
      if (sentence.headingDeg === undefined) break;
      values.hasHeading = true;
      values.heading.set(sentence.headingDeg);
  }
}

function move(values: Values, speed: number | undefined, course: number | undefined): void {
  if (speed !== undefined) values.speed.set(speed);
  if (course !== undefined && !values.hasHeading) values.heading.set(course);
}

function noFix(name: string, satellites: number): PlatformError {
  return unavailable(
    `${name}: the receiver has no position (${satellites} satellites); give its antenna a clear view of the sky`,
  );
}

function methodsOf(values: Values): Omit<MovementSensor, 'close'> {
  const { fix, speed, heading } = values;
  const unsupported = async (): Promise<never> => {
    throw unimplemented('NMEA receivers do not measure this; see GetProperties');
  };
  return {
    async getPosition() {
      const { altitudeM, ...coordinate } = await fix.read();
      return { coordinate, altitudeM };
    },
    getLinearVelocity: async () => ({ linearVelocity: { x: 0, y: await speed.read(), z: 0 } }),
    getCompassHeading: async () => ({ value: await heading.read() }),
    ...{ getAngularVelocity: unsupported, getLinearAcceleration: unsupported, getOrientation: unsupported },
    getProperties: async () => ({
      positionSupported: true,
      linearVelocitySupported: true,
      compassHeadingSupported: true,
    }),
    async getAccuracy() {
      await fix.read();
      const { hdop, quality } = values;
      return { ...(hdop !== undefined && { positionHdop: hdop }), positionNmeaGgaFix: quality };
    },
    async readings(): Promise<Document> {
      const { latitude, longitude, altitudeM } = await fix.read();
      return {
        ...{
          position: { latitude, longitude },
          altitude: altitudeM,
          fix: values.quality,
          satellites: values.satellites,
        },
        ...(speed.hasFresh && { linear_velocity: { x: 0, y: await speed.read(), z: 0 } }),
        ...(heading.hasFresh && { compass: await heading.read() }),
      };
    },
    doCommand: noCommands('nmea movement sensors have no commands'),
  };
}
