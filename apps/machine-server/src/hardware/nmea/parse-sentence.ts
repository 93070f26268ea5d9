/** Sentences of NMEA 0183: `$GPGGA,…*5A`, where the first two letters name the talker and the next three the kind. */

/** The content of a sentence; a field is absent if the receiver omitted it. */
export type Sentence =
  | {
      readonly kind: 'fix';
      /** 0: no position. 1: GPS, 2: differential, 4: RTK fixed, 5: RTK float, 6: dead reckoning. */
      readonly quality: number;
      readonly position: Position | undefined;
      readonly altitudeM: number;
      readonly satellites: number;
      readonly hdop: number | undefined;
    }
  | {
      readonly kind: 'minimum';
      readonly isValid: boolean;
      readonly position: Position | undefined;
      readonly speedMPerS: number | undefined;
      readonly courseDeg: number | undefined;
    }
  | { readonly kind: 'velocity'; readonly speedMPerS: number | undefined; readonly courseDeg: number | undefined }
  | { readonly kind: 'heading'; readonly headingDeg: number | undefined };

/** Degrees; north and east are positive. */
export interface Position {
  readonly latitude: number;
  readonly longitude: number;
}

const metresPerSecond = 0.514_444;
const kilometresPerHour = 3.6;
/** `!` and `$` begin a sentence; the checksum is the XOR of the characters between that and `*`. */
const shape = /^[$!]([^*]*)\*([\dA-Fa-f]{2})$/;

/** Undefined for kinds that this reader does not use. @throws Error if the sentence is damaged */
export function parseSentence(line: string): Sentence | undefined {
  const [, body = '', sum] = shape.exec(line.trim()) ?? [];
  if (sum === undefined)
    throw new Error(`expected a sentence such as $GPGGA,…*5A, found ${JSON.stringify(line.slice(0, 80))}`);
  let xor = 0;
  for (const byte of Buffer.from(body, 'latin1')) xor ^= byte;
  if (xor !== Number.parseInt(sum, 16))
    throw new Error(`the checksum of ${JSON.stringify(line.slice(0, 80))} is wrong`);
  const [address = '', ...fields] = body.split(',');
  return parsers[address.slice(-3)]?.(fields);
}

const parsers: Readonly<Record<string, (fields: readonly string[]) => Sentence>> = {
  GGA: ([, lat, ns, lon, ew, quality, satellites, hdop, altitude]) => ({
    kind: 'fix',
    quality: numberOf(quality) ?? 0,
    position: positionOf(lat, ns, lon, ew),
    altitudeM: numberOf(altitude) ?? 0,
    satellites: numberOf(satellites) ?? 0,
    hdop: numberOf(hdop),
  }),
  RMC: ([, status, lat, ns, lon, ew, knots, course]) => ({
    kind: 'minimum',
    isValid: status === 'A',
    position: positionOf(lat, ns, lon, ew),
    speedMPerS: times(numberOf(knots), metresPerSecond),
    courseDeg: numberOf(course),
  }),
  VTG: ([course, , , , knots, , kmPerH]) => ({
    kind: 'velocity',
    speedMPerS: times(numberOf(knots), metresPerSecond) ?? times(numberOf(kmPerH), 1 / kilometresPerHour),
    courseDeg: numberOf(course),
  }),
  HDT: ([heading]) => ({ kind: 'heading', headingDeg: numberOf(heading) }),
};

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`expected a number in a sentence, found ${JSON.stringify(text)}`);
  return value;
}

function times(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

/** Converts degrees and minutes without a separator: `4807.038` is 48° 7.038′. */
function positionOf(lat?: string, ns?: string, lon?: string, ew?: string): Position | undefined {
  const [latitude, longitude] = [degreesOf(lat), degreesOf(lon)];
  if (latitude === undefined || longitude === undefined) return undefined;
  if (latitude > 90 || longitude > 180) throw new Error(`expected a position, found ${lat} and ${lon}`);
  return { latitude: ns === 'S' ? -latitude : latitude, longitude: ew === 'W' ? -longitude : longitude };
}

function degreesOf(text: string | undefined): number | undefined {
  const value = numberOf(text);
  if (value === undefined) return undefined;
  const degrees = Math.floor(value / 100);
  return degrees + (value - 100 * degrees) / 60;
}
