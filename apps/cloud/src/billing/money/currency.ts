/** Currencies of ISO 4217, and the number of decimals of each. */
import { invalidArgument } from '@platform/base';

export interface Currency {
  /** Three letters, such as USD. */
  readonly code: string;
  /** Decimals of the minor unit: 2 for USD, 0 for JPY, 3 for KWD. */
  readonly exponent: number;
}

/** Codes by exponent (ISO 4217, active currencies with a minor unit). */
const codes: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
  2:
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK ' +
    'DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT ' +
    'LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN ' +
    'QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS ' +
    'VED VES WST XCD YER ZAR ZMW ZWG',
  3: 'BHD IQD JOD KWD LYD OMR TND',
};

const exponents: ReadonlyMap<string, number> = new Map(
  Object.entries(codes).flatMap(([exponent, names]) => names.split(' ').map((name) => [name, Number(exponent)])),
);

/** @param field named in the error. @throws invalid_argument */
export function currencyOf(code: unknown, field: string): Currency {
  const exponent = typeof code === 'string' ? exponents.get(code) : undefined;
  if (typeof code === 'string' && exponent !== undefined) return { code, exponent };
  throw invalidArgument(
    `${field}: expected the code of a currency (ISO 4217), such as USD, found ${JSON.stringify(code ?? null)}`,
  );
}
