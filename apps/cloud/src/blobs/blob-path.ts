/** The specified path pattern: organization, location, machine, part, component type, component, method, day, file. */

export interface BlobPlace {
  readonly organizationId: string;
  readonly locationId: string;
  readonly robotId: string;
  readonly partId: string;
  readonly componentType: string;
  readonly componentName: string;
  readonly methodName: string;
  /** YYYY-MM-DD, UTC. */
  readonly captureDay: string;
  /** Including its extension. */
  readonly file: string;
}

/** Longest segment in bytes; file systems allow 255. */
const maxSegmentBytes = 200;

/** Names come from users and machines: each becomes one safe segment that preserves as much of the name as possible. */
export function blobPath(place: BlobPlace): string {
  return [
    place.organizationId,
    place.locationId,
    place.robotId,
    place.partId,
    place.componentType,
    place.componentName,
    place.methodName,
    place.captureDay,
    place.file,
  ]
    .map(segment)
    .join('/');
}

/** Letters, digits and `. _ - :` stay, everything else becomes %XX; an empty name becomes `_`, and a leading dot is escaped. */
function segment(name: string): string {
  if (name === '') return '_';
  let safe = '';
  for (const byte of new TextEncoder().encode(name)) {
    const char = String.fromCharCode(byte);
    const plain = byte < 0x80 && /[A-Za-z0-9._:-]/.test(char) && !(safe === '' && char === '.');
    const next = plain ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    if (safe.length + next.length > maxSegmentBytes) break;
    safe += next;
  }
  return safe;
}
