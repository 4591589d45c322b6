import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  children: ComponentChildren;
  kind?: 'primary' | 'secondary' | 'danger' | 'quiet';
  icon?: IconName;
  type?: 'button' | 'submit';
  /** While its work is under way: it keeps the focus, says so, and does nothing. */
  isBusy?: boolean;
  isDisabled?: boolean;
  /** Of a button that stays chosen. */
  isPressed?: boolean;
  id?: string;
  onClick?: () => void;
}

export function Button({
  children,
  kind = 'secondary',
  icon,
  type = 'button',
  isBusy = false,
  isDisabled = false,
  isPressed,
  id,
  onClick,
}: ButtonProps) {
  const isOff = isBusy || isDisabled;
  return (
    <button
      type={type}
      id={id}
      class={`button ${kind}`}
      aria-disabled={isOff}
      aria-busy={isBusy}
      aria-pressed={isPressed}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.();
      }}
    >
      {isBusy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}
