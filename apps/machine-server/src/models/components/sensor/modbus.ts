/**
 * `core:builtin:modbus`: registers of a Modbus device, read for each reading.
 *
 * Attributes: `address` (`host:port`, port 502 by default; Modbus TCP), or `serial_path` (Modbus RTU; 9,600 baud by default) with the other
 * attributes of a serial port (models/line-attributes.ts); `unit` (default 1); `timeout_ms` (default 2,000) of each request and of the
 * connection; `registers` (required): list of `{name, address, kind, type, word_order, scale, offset}`. `address` counts from 0; `kind` is
 * `holding` (default), `input`, `coil` or `discrete`; `type` is `uint16` (default), `int16`, `uint32`, `int32`, `float32`, `uint64`,
 * `int64`, `float64` or `bool`; `word_order` is `big` (default: the high word first) or `little`; a number is multiplied by `scale`
 * (default 1), then `offset` (default 0) is added. Adjacent registers are read with one request. Two sensors cannot share a port.
 */
import { type Clock, invalidArgument } from '@platform/base';
import type { Document, Sensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import type { Kernel } from '../../../hardware/kernel.ts';
import { lineName, openLine } from '../../../hardware/line.ts';
import { createModbusClient } from '../../../hardware/modbus/client.ts';
import { rtuFraming, tcpFraming } from '../../../hardware/modbus/frames.ts';
import { blocksOf, decodeRegister, parseRegister } from '../../../hardware/modbus/registers.ts';
import { readAttributes } from '../../attributes.ts';
import { lineFields, readLine } from '../../line-attributes.ts';
import { noCommands } from '../../no-commands.ts';

const fields = {
  ...lineFields,
  unit: { kind: 'int', default: 1, min: 0, max: 255 },
  timeout_ms: { kind: 'int', default: 2_000, min: 1, max: 600_000 },
  registers: { kind: 'list' },
} as const;

/** The time of 3.5 characters with 11 bits. */
const gapBits = 38.5;
const leastGapMs = 1.75;

export const createModbusSensor = (clock: Clock, kernel: () => Promise<Kernel>): Model => ({
  api: 'core:component:sensor',
  model: 'core:builtin:modbus',
  fields,
  async build({ attributes }): Promise<Sensor> {
    const given = readAttributes(fields, attributes);
    const line = readLine(given, { port: 502, baudRate: 9_600 });
    const registers = (given.registers ?? []).map((item, index) =>
      parseRegister(item, `attributes.registers[${index}]`),
    );
    if (registers.length === 0)
      throw invalidArgument('attributes.registers: expected at least one register, found none');
    const blocks = blocksOf(registers);
    const client = createModbusClient({
      name: lineName(line),
      unit: given.unit,
      framing: line.kind === 'tcp' ? tcpFraming : rtuFraming,
      open: () => openLine(line, given.timeout_ms, { kernel, clock }),
      timeoutMs: given.timeout_ms,
      gapMs: line.kind === 'tcp' ? 0 : Math.max(leastGapMs, (gapBits / line.baudRate) * 1_000),
      clock,
    });
    return {
      async readings(): Promise<Document> {
        const values = new Map<string, number | boolean>();
        for (const block of blocks) {
          const bytes = await client.read(block.kind, block.address, block.count);
          for (const register of block.registers) values.set(register.name, decodeRegister(register, block, bytes));
        }
        return Object.fromEntries(registers.map(({ name }) => [name, values.get(name)]));
      },
      doCommand: noCommands('modbus sensors have no commands'),
      async close() {
        await client[Symbol.asyncDispose]();
      },
    };
  },
});
