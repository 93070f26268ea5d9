/** The registers of a reading: their configuration, requests and decoding. */
import { invalidArgument } from '@platform/base';
import type { RegisterKind } from './client.ts';
import { readFunctions } from './client.ts';

const wordsOf = {
  bool: 1,
  uint16: 1,
  int16: 1,
  uint32: 2,
  int32: 2,
  float32: 2,
  uint64: 4,
  int64: 4,
  float64: 4,
} as const;
type RegisterType = keyof typeof wordsOf;

export interface Register {
  /** The key in the reading. */
  readonly name: string;
  readonly kind: RegisterKind;
  /** From 0. */
  readonly address: number;
  readonly type: RegisterType;
  /** Whether the most significant word comes first (`big`). */
  readonly wordOrder: 'big' | 'little';
  readonly scale: number;
  readonly offset: number;
}

/** Adjacent registers of one kind, read by one request. */
export interface Block {
  readonly kind: RegisterKind;
  readonly address: number;
  readonly count: number;
  readonly registers: readonly Register[];
}

/** More do not fit into an answer. */
const mostRegisters = 125;
const mostBits = 2_000;

/** @throws invalid_argument naming the wrong value */
export function parseRegister(item: unknown, at: string): Register {
  const given = (item ?? {}) as Readonly<Record<string, unknown>>;
  const { name, address, kind = 'holding', word_order: wordOrder = 'big', scale = 1, offset = 0 } = given;
  const isBit = kind === 'coil' || kind === 'discrete';
  const { type = isBit ? 'bool' : 'uint16' } = given;
  const check = (key: string, isRight: boolean, expected: string): void => {
    if (isRight) return;
    throw invalidArgument(`${at}.${key}: expected ${expected}, found ${JSON.stringify(given[key]) ?? 'none'}`);
  };
  check('name', typeof name === 'string' && name !== '', 'a name');
  check('kind', typeof kind === 'string' && Object.hasOwn(readFunctions, kind), Object.keys(readFunctions).join(', '));
  check(
    'address',
    typeof address === 'number' && Number.isInteger(address) && address >= 0 && address <= 65_535,
    'a whole number from 0 to 65535',
  );
  check(
    'type',
    typeof type === 'string' && Object.hasOwn(wordsOf, type) && (!isBit || type === 'bool'),
    isBit ? 'bool' : Object.keys(wordsOf).join(', '),
  );
  check('word_order', wordOrder === 'big' || wordOrder === 'little', '"big" or "little"');
  check('scale', typeof scale === 'number' && Number.isFinite(scale), 'a number');
  check('offset', typeof offset === 'number' && Number.isFinite(offset), 'a number');
  const last = Number(address) + wordsOf[type as RegisterType] - 1;
  check('address', last <= 65_535, `all words of ${String(type)} at or below 65535`);
  return { name, kind, address, type, wordOrder, scale, offset } as Register;
}

/** Groups all registers into few requests. */
export function blocksOf(registers: readonly Register[]): readonly Block[] {
  const blocks: { kind: RegisterKind; address: number; count: number; registers: Register[] }[] = [];
  for (const register of registers.toSorted((a, b) => a.kind.localeCompare(b.kind) || a.address - b.address)) {
    const { kind, address, type } = register;
    const end = address + wordsOf[type];
    const most = type === 'bool' && (kind === 'coil' || kind === 'discrete') ? mostBits : mostRegisters;
    const block = blocks.at(-1);
    if (block?.kind === kind && address <= block.address + block.count && end - block.address <= most) {
      block.count = Math.max(block.count, end - block.address);
      block.registers.push(register);
    } else blocks.push({ kind, address, count: end - address, registers: [register] });
  }
  return blocks;
}

/** @param bytes of its block. Whole numbers of 64 bits lose precision above 2⁵³. */
export function decodeRegister(
  { kind, address, type, wordOrder, scale, offset }: Register,
  block: Block,
  bytes: Buffer,
): number | boolean {
  const index = address - block.address;
  if (kind === 'coil' || kind === 'discrete') return (((bytes[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
  const words = wordsOf[type];
  const value = Buffer.alloc(8);
  for (let word = 0; word < words; word++) {
    const to = wordOrder === 'big' ? word : words - 1 - word;
    value.writeUInt16BE(bytes.readUInt16BE(2 * (index + word)), 2 * to);
  }
  if (type === 'bool') return value.readUInt16BE() !== 0;
  const read: Record<Exclude<RegisterType, 'bool'>, () => number | bigint> = {
    uint16: () => value.readUInt16BE(),
    int16: () => value.readInt16BE(),
    uint32: () => value.readUInt32BE(),
    int32: () => value.readInt32BE(),
    float32: () => value.readFloatBE(),
    uint64: () => value.readBigUInt64BE(),
    int64: () => value.readBigInt64BE(),
    float64: () => value.readDoubleBE(),
  };
  return Number(read[type]()) * scale + offset;
}
