/** Asks before an action that cannot be undone. */
export interface Question {
  /** What would be done, as a question: "Delete the key nightly?" */
  readonly title: string;
  /** The consequence of the action. */
  readonly consequence: string;
  /** Label of the button that confirms it. */
  readonly action: string;
  /** Default: true. False: nothing is lost. */
  readonly isDanger?: boolean;
}

interface Asked extends Question {
  readonly answer: (isConfirmed: boolean) => void;
}

export const questions = $state<{ current: Asked | undefined }>({ current: undefined });

/** Shows a dialog. A question that is still open is answered with no. @returns whether the person confirmed it */
export function isConfirmed(question: Question): Promise<boolean> {
  questions.current?.answer(false);
  return new Promise((resolve) => {
    questions.current = {
      ...question,
      answer(given) {
        questions.current = undefined;
        resolve(given);
      },
    };
  });
}
