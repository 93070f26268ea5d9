/** The cause of the error of a request that got no answer. Browsers only say so in texts, each in its own. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
}

/** `fetch`, whose failures can be told from mistakes of a program. @throws Unreached; the reason of its signal */
export async function reach(to: string | URL | Request, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(to, init);
  } catch (caught) {
    throw caught instanceof TypeError ? new Unreached(caught.message, { cause: caught }) : caught;
  }
}
