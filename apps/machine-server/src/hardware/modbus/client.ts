/** A read-only Modbus client: one request at a time, over a line that is opened on first use, and again after a failure. */
import type { Duplex } from 'node:stream';
import {
  type Clock,
  createLimiter,
  dataLoss,
  deadlineExceeded,
  errorText,
  PlatformError,
  unavailable,
} from '@platform/base';
import type { Framing } from './frames.ts';

/** The function codes that read registers and bits. */
export const readFunctions = { coil: 1, discrete: 2, holding: 3, input: 4 } as const;
export type RegisterKind = keyof typeof readFunctions;

export interface ModbusOptions {
  /** Names the device in errors. */
  readonly name: string;
  readonly unit: number;
  readonly framing: Framing;
  open(): Promise<Duplex>;
  /** The longest wait for an answer. */
  readonly timeoutMs: number;
  /** Silence before each request, by which devices on a serial line tell frames apart. */
  readonly gapMs: number;
  readonly clock: Clock;
}

export interface ModbusClient extends AsyncDisposable {
  /**
   * The bytes of `count` registers (2 each), or of `count` bits (8 in each byte, the first one lowest).
   *
   * @throws what opening throws, deadline_exceeded, data_loss, unavailable with the exception of the device
   */
  read(kind: RegisterKind, address: number, count: number): Promise<Buffer>;
}

const exceptions: Readonly<Record<number, string>> = {
  1: 'it does not support this function; try another kind of register',
  2: 'it has no such address; addresses count from 0',
  3: 'it refused the number of registers',
  4: 'it failed',
  6: 'it is busy',
  10: 'the gateway has no path to it',
  11: 'it did not answer the gateway',
};

export function createModbusClient({
  name,
  unit,
  framing,
  open,
  timeoutMs,
  gapMs,
  clock,
}: ModbusOptions): ModbusClient {
  let stream: Duplex | undefined;
  let transaction = 0;
  let isClosed = false;
  const inTurn = createLimiter(1);

  const exchange = async (pdu: Uint8Array): Promise<Buffer> => {
    if (isClosed) throw unavailable(`${name}: this sensor was closed`);
    if (stream === undefined || stream.destroyed) stream = await open();
    const line = stream;
    if (gapMs > 0) await clock.sleep(gapMs);
    if (isClosed) line.destroy();
    transaction = (transaction + 1) & 0xffff;
    try {
      const answer = answerOn(line, framing, transaction, unit);
      line.write(framing.encode(transaction, unit, pdu));
      using _limit = clock.after(timeoutMs, () =>
        line.destroy(
          deadlineExceeded(
            `${name}: expected unit ${unit} to answer within ${timeoutMs} ms (timeout_ms); check the unit, the wiring and the baud rate`,
          ),
        ),
      );
      return await answer;
    } catch (caught) {
      // A late answer must not be taken for that of the next request.
      line.destroy();
      if (caught instanceof PlatformError) throw caught;
      throw unavailable(`${name}: ${errorText(caught)}`, caught);
    }
  };

  return {
    async read(kind, address, count) {
      const code = readFunctions[kind];
      const pdu = Buffer.from([code, 0, 0, 0, 0]);
      pdu.writeUInt16BE(address, 1);
      pdu.writeUInt16BE(count, 3);
      const answer = await inTurn(() => exchange(pdu));
      const where = `${name}: ${kind} ${address} of unit ${unit}`;
      if (answer[0] === (code | 0x80)) {
        const exception = answer[1] ?? 0;
        throw unavailable(
          `${where}: the device answered exception ${exception}: ${exceptions[exception] ?? 'unknown to Modbus'}`,
        );
      }
      const bytes = kind === 'coil' || kind === 'discrete' ? Math.ceil(count / 8) : 2 * count;
      if (answer[0] !== code || answer[1] !== bytes || answer.length !== bytes + 2)
        throw dataLoss(`${where}: expected ${bytes} bytes, found an answer that does not fit`);
      return answer.subarray(2);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      stream?.destroy(unavailable(`${name}: this sensor was closed`));
      await inTurn(async () => {});
    },
  };
}

/** The answer to this transaction; others are skipped. Rejects when the line ends. */
function answerOn(line: Duplex, framing: Framing, transaction: number, unit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const done = (): void => {
      line.off('data', onData);
      line.off('close', onClose);
    };
    const onClose = (): void => {
      done();
      reject(line.errored ?? new Error('the device ended the connection'));
    };
    const onData = (chunk: Buffer): void => {
      try {
        bytes = Buffer.concat([bytes, chunk]);
        for (let next = framing.decode(bytes); next !== undefined; next = framing.decode(bytes)) {
          bytes = bytes.subarray(next.length);
          if (next.unit !== unit || (next.transaction ?? transaction) !== transaction) continue;
          done();
          resolve(next.pdu);
          return;
        }
      } catch (caught) {
        done();
        reject(caught);
      }
    };
    line.on('data', onData);
    line.once('close', onClose);
    // `close` reports it.
    line.on('error', () => {});
  });
}
