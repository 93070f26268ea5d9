/** The framing of Modbus requests and answers: over TCP with a header (MBAP), over serial lines (RTU) with a checksum. */

export interface Framing {
  /** @param pdu function code and data */
  encode(transaction: number, unit: number, pdu: Uint8Array): Uint8Array;
  /** The first answer in these bytes; undefined if it is not complete yet. Throws Error if the bytes are not an answer. */
  decode(bytes: Buffer): Answer | undefined;
}

export interface Answer {
  /** Undefined if the framing has none. */
  readonly transaction: number | undefined;
  readonly unit: number;
  readonly pdu: Buffer;
  /** Bytes of the whole frame. */
  readonly length: number;
}

const headerBytes = 7;
const mostPduBytes = 253;
const exceptionFlag = 0x80;

export const tcpFraming: Framing = {
  encode(transaction, unit, pdu) {
    const header = Buffer.alloc(headerBytes);
    header.writeUInt16BE(transaction, 0);
    header.writeUInt16BE(pdu.length + 1, 4);
    header[6] = unit;
    return Buffer.concat([header, pdu]);
  },
  decode(bytes) {
    if (bytes.length < headerBytes) return undefined;
    const [protocol, rest] = [bytes.readUInt16BE(2), bytes.readUInt16BE(4)];
    if (protocol !== 0 || rest < 2 || rest > mostPduBytes + 1)
      throw new Error('expected a Modbus TCP frame, found other bytes');
    const length = headerBytes - 1 + rest;
    if (bytes.length < length) return undefined;
    return {
      transaction: bytes.readUInt16BE(0),
      unit: bytes.readUInt8(6),
      pdu: bytes.subarray(headerBytes, length),
      length,
    };
  },
};

const checksumBytes = 2;

export const rtuFraming: Framing = {
  encode(_transaction, unit, pdu) {
    const frame = Buffer.concat([Uint8Array.of(unit), pdu, Buffer.alloc(checksumBytes)]);
    frame.writeUInt16LE(crc16(frame.subarray(0, -checksumBytes)), frame.length - checksumBytes);
    return frame;
  },
  decode(bytes) {
    if (bytes.length < 3) return undefined;
    const isException = (bytes.readUInt8(1) & exceptionFlag) !== 0;
    // Unit, function, and one byte of an exception; or a count and its bytes.
    const length = (isException ? 3 : 3 + bytes.readUInt8(2)) + checksumBytes;
    if (bytes.length < length) return undefined;
    const end = length - checksumBytes;
    if (crc16(bytes.subarray(0, end)) !== bytes.readUInt16LE(end))
      throw new Error('the checksum is wrong: check the baud rate, the parity and the wiring');
    return { transaction: undefined, unit: bytes.readUInt8(0), pdu: bytes.subarray(1, end), length };
  },
};

/** The checksum of RTU frames: CRC-16 with the polynomial 0xA001. */
function crc16(bytes: Uint8Array): number {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0xa001;
  }
  return crc;
}
