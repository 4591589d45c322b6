/** Names the tests that passed only when they were tried again: each has a race, in the test or in the code. */
import type { Reporter, TestCase } from 'vitest/node';

export class SecondAttempts implements Reporter {
  readonly #tests: TestCase[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#tests.push(test);
  }

  onTestRunEnd(): void {
    for (const test of this.#tests) {
      const errors = test
        .result()
        .errors?.map(({ message }) => message)
        .join('; ');
      const name = `${test.module.relativeModuleId} > ${test.fullName}`;
      process.stderr.write(`Passed at the second attempt: ${name}: ${errors}\n`);
    }
  }
}
