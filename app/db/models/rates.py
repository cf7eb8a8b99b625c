"""How often somebody did something lately, for every process that asks."""

from datetime import datetime

from sqlalchemy import Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Rate(Base):
    """Until when somebody's allowance is used up: the theoretical arrival time of GCRA. Lost in a crash, to no harm."""

    __tablename__ = "rate"
    __table_args__ = {"prefixes": ["UNLOGGED"]}  # noqa: RUF012 - the name and type are SQLAlchemy's

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    used_until: Mapped[datetime]
